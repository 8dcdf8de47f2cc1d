module example.com/older
