double area(double width, double height);
int rounded(double value);
