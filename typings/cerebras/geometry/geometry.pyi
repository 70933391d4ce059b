from loomir.host.sdk.geometry import IntRectangle as IntRectangle
from loomir.host.sdk.geometry import IntVector as IntVector
