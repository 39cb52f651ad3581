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
  /** Signs the operator in, once; until he has. */
  signInLink: string | undefined
  /** Names of the providers with a platform connection, without the sandbox. */
  providers: readonly string[]
  /** Whether the models that are answered by Tollgate itself are there. */
  hasSandbox: boolean
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
  const rows: [string, string | undefined][] = [
    ['Your API key', firstKey ?? (firstKeyPath && shown(firstKeyPath))],
    ['', firstKey && firstKeyPath && `kept in ${shown(firstKeyPath)}`],
    ['Sign in', start.signInLink],
    ['', start.signInLink && 'works once, within a day'],
    ['Operator key', adminKeyPath && shown(adminKeyPath)],
    ['API reference', `${address}/docs`],
    ['Providers', providers.join(', ') || 'none yet: set OPENAI_API_KEY or another, start again'],
  ]
  const lines = [
    `Tollgate ${start.version} is ready at ${address} after ${(start.tookMs / 1000).toFixed(2)} s`,
    '',
    ...rows.flatMap(([name, value]) => (value ? [`  ${name.padEnd(15)}${value}`] : [])),
    ...(start.hasSandbox ? ['', ...curl(start)] : []),
    '',
  ]
  return `${lines.join('\n')}\n`
}

function curl({ address, firstKey, firstKeyPath }: Welcome): string[] {
  const kept = firstKeyPath ? `$(cat ${quoted(shown(firstKeyPath))})` : '$TOLLGATE_KEY'
  return [
    '  Try it, with a model that needs no provider:',
    '',
    `  curl ${address}/v1/chat/completions \\`,
    `    -H "Authorization: Bearer ${firstKey ?? kept}" \\`,
    `    -H "Content-Type: application/json" \\`,
    `    -d '{"model": "sandbox/echo", "messages": [{"role": "user", "content": "Hello!"}]}'`,
  ]
}
