#!/usr/bin/env bash

set -e

cslc --arch=wse2 ./layout.csl --fabric-dims=9,7 --fabric-offsets=4,1 \
  --params=width:2,height:5,tile:3 \
  -o out --memcpy --channels=1
cs_python run.py --name out
