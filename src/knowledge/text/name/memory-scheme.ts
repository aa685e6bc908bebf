/** What the address of a note begins with, wherever one may be written: in a request, and in a link. */
export const MEMORY_SCHEME = 'memory://'
