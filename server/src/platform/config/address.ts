/** Returns the host by which this machine reaches a server bound to `host`; IPv6 addresses without brackets. */
export const toReachableHost = (host: string): string =>
  ['', '0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host

/** Joins a host and a port as URLs write them: IPv6 addresses in brackets. */
export const formatHostAndPort = (host: string, port: number | string): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`

/** Returns the URL of a server bound to `host` for browsers on its own machine; without a final slash. */
export function getLocalUrl(host: string, port: number): string {
  const isEverywhere = ['127.0.0.1', '0.0.0.0', '::'].includes(host)
  return `http://${formatHostAndPort(isEverywhere ? 'localhost' : host, port)}`
}

/** Returns whether a server bound to `host`, or a URL with this host name, is for its own machine only. */
export const isLoopbackHost = (host: string): boolean =>
  /^(localhost|127\.\d+\.\d+\.\d+|::1|\[::1\])$/.test(host)
