package exectool

const pathSeparators = `/\`
