import { relative } from 'node:path'

/** The limits of a plan; null for no limit. */
export interface PlanLimits {
  name: string
  requestsPerMinute: number | null
  tokensPerMinute: number | null
  concurrentRequests: number | null
}

/** The first screen's facts. */
export interface Welcome {
  version: string
  address: string
  tookMs: number
  /** Set at the very first start only, and only at a terminal. */
  firstKey: string | undefined
  /** Where the first key is kept, while it is. */
  firstKeyPath: string | undefined
  adminKeyPath: string | undefined
  /** Signs the operator in, once; only at a terminal, as other outputs are kept and read by many. */
  signInLink: string | undefined
  /** The command that prints such a link; undefined once the operator's account has a password. */
  signInCommand: string | undefined
  /** Of the plan that new accounts get; undefined where the first account's own limits are those, too. */
  othersLimits: PlanLimits | undefined
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
export function formatWelcome(start: Welcome): string {
  const { address, firstKey, firstKeyPath, adminKeyPath, providers } = start
  const rows: [string, string | undefined][] = [
    ['Your API key', firstKey ?? (firstKeyPath && shown(firstKeyPath))],
    ['', firstKey && firstKeyPath && `kept in ${shown(firstKeyPath)}`],
    ['Sign in', start.signInLink ?? (start.signInCommand && `run: ${start.signInCommand}`)],
    ['', start.signInLink && 'works once, within a day; earlier links no longer do'],
    ['Operator key', adminKeyPath && shown(adminKeyPath)],
    ['API reference', `${address}/docs`],
    [
      'Providers',
      providers.join(', ') || 'none yet: add a connection on the dashboard, at any time,',
    ],
    ['', providers.length === 0 ? 'or set OPENAI_API_KEY or another before the start' : undefined],
    ['Limits', start.othersLimits && 'none for your account, and no charge'],
    ['', start.othersLimits && wordsOf(start.othersLimits)],
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

const count = (limit: number) => limit.toLocaleString('en-US')

/** A sentence such as `other accounts, plan "free": 60 requests a minute, 10 at once`. */
function wordsOf({ name, ...plan }: PlanLimits): string {
  const limits = [
    [plan.requestsPerMinute, 'requests a minute'],
    [plan.tokensPerMinute, 'tokens a minute'],
    [plan.concurrentRequests, 'at once'],
  ] as const
  const set = limits.flatMap(([limit, words]) => (limit === null ? [] : `${count(limit)} ${words}`))
  return `other accounts, plan "${name}": ${set.join(', ') || 'no limits'}`
}

/** A command of Tollgate as it is typed: npm's launcher says by its variable that it runs the sources. */
export const toCommand = (name: string): string =>
  process.env['TOLLGATE_NODE'] === undefined ? `tollgate ${name}` : `npx tollgate ${name}`

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
