#!/usr/bin/env bash

set -e

cslc --arch=wse3 ./layout.csl --fabric-dims=11,3 --fabric-offsets=4,1 \
  --params=width:4,columns:5 \
  -o out --memcpy --channels=1
cs_python run.py --name out
