# The shape of Abilene.
graph [
  directed 0
  Network "Abilene"
  node [
    id 0
    label "Seattle"
    Longitude -122.33
    Latitude 47.61
  ]
  node [
    id 1
    label "Sunnyvale"
    Longitude -122.04
    Latitude 37.37
  ]
  node [
    id 2
    label "LosAngeles"
    Longitude -118.24
    Latitude 34.05
  ]
  node [
    id 3
    label "Denver"
    Longitude -104.99
    Latitude 39.74
  ]
  node [
    id 4
    label "KansasCity"
    Longitude -94.58
    Latitude 39.1
  ]
  node [
    id 5
    label "Houston"
    Longitude -95.37
    Latitude 29.76
  ]
  node [
    id 6
    label "Chicago"
    Longitude -87.63
    Latitude 41.88
  ]
  node [
    id 7
    label "Indianapolis"
    Longitude -86.16
    Latitude 39.77
  ]
  node [
    id 8
    label "Atlanta"
    Longitude -84.39
    Latitude 33.75
  ]
  node [
    id 9
    label "Washington"
    Longitude -77.04
    Latitude 38.91
  ]
  node [
    id 10
    label "NewYork"
    Longitude -74.01
    Latitude 40.71
  ]
  edge [ source 0 target 1 LinkSpeed "10" LinkSpeedRaw 10000000000.0 ]
  edge [ source 0 target 3 LinkSpeed "10" LinkSpeedRaw 10000000000.0 ]
  edge [ source 1 target 2 LinkSpeed "10" LinkSpeedRaw 10000000000.0 ]
  edge [ source 1 target 3 LinkSpeed "10" LinkSpeedRaw 10000000000.0 ]
  edge [ source 2 target 5 LinkSpeed "10" LinkSpeedRaw 10000000000.0 ]
  edge [ source 3 target 4 LinkSpeed "10" LinkSpeedRaw 10000000000.0 ]
  edge [ source 4 target 5 LinkSpeed "10" LinkSpeedRaw 10000000000.0 ]
  edge [ source 4 target 7 LinkSpeed "10" LinkSpeedRaw 10000000000.0 ]
  edge [ source 5 target 8 LinkSpeed "10" LinkSpeedRaw 10000000000.0 ]
  edge [ source 7 target 6 LinkSpeed "10" LinkSpeedRaw 10000000000.0 ]
  edge [ source 7 target 8 LinkSpeed "10" LinkSpeedRaw 10000000000.0 ]
  edge [ source 6 target 10 LinkSpeed "10" LinkSpeedRaw 10000000000.0 ]
  edge [ source 8 target 9 LinkSpeed "10" LinkSpeedRaw 10000000000.0 ]
  edge [ source 10 target 9 LinkSpeed "10" LinkSpeedRaw 10000000000.0 ]
]
