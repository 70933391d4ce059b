#!/usr/bin/env bash

set -e

cslc --arch=wse3 ./layout.csl --fabric-dims=10,5 --fabric-offsets=4,1 \
  --params=side:3,tile:4 \
  -o out --memcpy --channels=1
cs_python run.py --name out
