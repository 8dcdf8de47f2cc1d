module example.com/old

go 1.20

godebug panicnil=1
