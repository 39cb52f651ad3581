import { relative } from 'node:path'

/** What a start has to say to whoever started it. */
export interface Welcome {
  version: string
  address: string
  tookMs: number
  /** Set at the very first start only. */
  firstKey: string | undefined
  /** Where the first key is kept, while it is. */
  firstKeyPath: string | undefined
  adminKeyPath: string | undefined
  /** Names of the providers with a platform connection, without the sandbox. */
  providers: readonly string[]
}

const shown = (path: string) => {
  const near = relative(process.cwd(), path)
  return near.startsWith('..') ? path : near
}

/** A path as a shell takes it. */
const quoted = (path: string) =>
  /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`

/** The first screen: the address, the keys, and a request that works as pasted. */
export function welcome(start: Welcome): string {
  const { address, firstKey, firstKeyPath, adminKeyPath, providers } = start
  const keyInCurl =
    firstKey ?? (firstKeyPath ? `$(cat ${quoted(shown(firstKeyPath))})` : '$TOLLGATE_KEY')
  const lines = [
    `Tollgate ${start.version} is ready at ${address} after ${(start.tookMs / 1000).toFixed(2)} s`,
    '',
    ...(firstKey ? [`  Your API key   ${firstKey}`] : []),
    ...(firstKeyPath
      ? [`  ${firstKey ? 'It is kept in ' : 'Your API key '}  ${shown(firstKeyPath)}`]
      : []),
    ...(adminKeyPath ? [`  Operator key   ${shown(adminKeyPath)}`] : []),
    `  API            ${address}/docs`,
    `  Providers      ${providers.length > 0 ? providers.join(', ') : 'none yet: the sandbox answers. Set OPENAI_API_KEY or another key and start again.'}`,
    '',
    `  curl ${address}/v1/chat/completions \\`,
    `    -H "Authorization: Bearer ${keyInCurl}" \\`,
    `    -H "Content-Type: application/json" \\`,
    `    -d '{"model": "sandbox/echo", "messages": [{"role": "user", "content": "Hello!"}]}'`,
    '',
  ]
  return `${lines.join('\n')}\n`
}
