#include <stdio.h>

#include "shapes.h"

int main(void) {
    printf("%d\n", rounded(area(2.5, 3)));
    return 0;
}
