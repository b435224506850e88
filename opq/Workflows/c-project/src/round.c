#include "shapes.h"

int rounded(double value) { return (int)(value + 0.5); }
