#!/usr/bin/env bash

set -e

cslc --arch=wse3 ./layout.csl --fabric-dims=9,4 --fabric-offsets=4,1 \
  --params=size:8,width:2 -o out --memcpy --channels=1
cs_python run.py --name out
