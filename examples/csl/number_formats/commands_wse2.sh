#!/usr/bin/env bash

set -e

cslc --arch=wse2 ./layout.csl --fabric-dims=8,3 --fabric-offsets=4,1 \
  --params=length:60 --fp16-format=cb16 \
  -o out_cb16 --memcpy --channels=1
cs_python run.py --name out_cb16 --format cb16
cslc --arch=wse2 ./layout.csl --fabric-dims=8,3 --fabric-offsets=4,1 \
  --params=length:60 --fp16-format=bf16 \
  -o out_bf16 --memcpy --channels=1
cs_python run.py --name out_bf16 --format bf16
