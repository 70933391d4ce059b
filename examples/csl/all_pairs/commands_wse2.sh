#!/usr/bin/env bash

set -e

cslc --arch=wse2 ./layout.csl --fabric-dims=11,5 --fabric-offsets=4,1 \
  --params=width:4,height:3,bodies:2 \
  -o out --memcpy --channels=1
cs_python run.py --name out
