/** Which database keeps the data: the embedded one, or a server beside us. */
export type Engine = 'sqlite' | 'postgres'
