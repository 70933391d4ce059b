#!/usr/bin/env bash

set -e

cslc --arch=wse3 ./layout.csl --fabric-dims=10,3 --fabric-offsets=4,1 \
  --params=width:3,buckets:4 \
  -o out --memcpy --channels=1
cs_python run.py --name out
