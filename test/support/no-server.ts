/** Where nobody listens, ever. A port that was free a moment ago is another test's server before one looks. */
export const NO_SERVER = 'http://127.0.0.1:1'
