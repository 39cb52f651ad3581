import { StartError } from '../../platform/config/config'

const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'].flatMap((name) => [
  name,
  name.toLowerCase(),
])

/**
 * Throws `StartError` where a proxy is configured, which would bypass the guard over where requests may go; the
 * launcher empties these variables.
 */
export function assertNoProxy(environment: Readonly<Record<string, string | undefined>>): void {
  const name = proxies.find((variable) => environment[variable])
  if (name) throw new StartError(`${name} is set. Start by "npm start", which leaves it out.`)
}
