/** Returns the path of the server's program: the bundle, or the sources where none can be made. */
export function prepareServer(root: string, bun: string, memory?: number): Promise<string>
