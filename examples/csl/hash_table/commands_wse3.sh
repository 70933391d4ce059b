#!/usr/bin/env bash

set -e

cslc --arch=wse3 ./layout.csl --fabric-dims=12,6 --fabric-offsets=4,1 \
  --params=width:4,height:3,operations:12,slots:32 \
  -o out --memcpy --channels=1
cs_python run.py --name out
