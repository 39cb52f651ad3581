import { join, relative } from 'node:path'

/** The limits of a plan; null for no limit. */
export interface PlanLimits {
  name: string
  requestsPerMinute: number | null
  tokensPerMinute: number | null
  concurrentRequests: number | null
}

/** The facts of the first screen. */
export interface Welcome {
  version: string
  address: string
  startupMs: number
  /** HOST where clients on other machines may connect while BASE_URL is not set, so that links begin with `localhost`. */
  openHost: string | undefined
  /** Set only at the very first start, and only on a terminal. */
  firstKey: string | undefined
  /** The file with the first key, while it exists. */
  firstKeyPath: string | undefined
  adminKeyPath: string | undefined
  /** A link that signs the operator in, once; only on a terminal, as other outputs are stored and widely readable. */
  signInLink: string | undefined
  /** The command that prints such a link; undefined once the operator's account has a password. */
  signInCommand: string | undefined
  /** The limits of the default plan; undefined if the first account has the same limits. */
  othersLimits: PlanLimits | undefined
  /** Names of the providers with a platform connection, without the sandbox. */
  providers: readonly string[]
  /** Whether the sandbox models, which Tollgate answers itself, are enabled. */
  hasSandbox: boolean
}

const formatPath = (path: string) => {
  const near = relative(process.cwd(), path)
  return near.startsWith('..') ? path : near
}

/** Quotes a path for a shell. */
const quotePath = (path: string) =>
  /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`

/** Formats the first screen: the address, the keys, and a request that works as pasted. */
export function formatWelcome(start: Welcome): string {
  const { address, firstKey, firstKeyPath, adminKeyPath, providers } = start
  const rows: [string, string | undefined][] = [
    ['Your API key', firstKey ?? (firstKeyPath && formatPath(firstKeyPath))],
    ['', firstKey && firstKeyPath && `kept in ${formatPath(firstKeyPath)}`],
    ['Sign in', start.signInLink ?? (start.signInCommand && `run: ${start.signInCommand}`)],
    ['', start.signInLink && 'works once, within a day; earlier links no longer do'],
    ['Operator key', adminKeyPath && formatPath(adminKeyPath)],
    ...(start.openHost ? addressRows(start.openHost) : []),
    ['API reference', `${address}/docs`],
    [
      'Providers',
      providers.join(', ') ||
        'none yet: add a connection on the dashboard (Operator, Platform connections),',
    ],
    ['', providers.length === 0 ? 'or set OPENAI_API_KEY or another before the start' : undefined],
    ['Limits', start.othersLimits && 'none for your account, and no charge'],
    ['', start.othersLimits && toLine(start.othersLimits)],
  ]
  const lines = [
    `Tollgate ${start.version} is ready at ${address} after ${(start.startupMs / 1000).toFixed(2)} s`,
    '',
    ...rows.flatMap(([name, value]) => (value ? [`  ${name.padEnd(15)}${value}`] : [])),
    ...(start.hasSandbox ? ['', ...curl(start)] : []),
    '',
  ]
  return `${lines.join('\n')}\n`
}

const addressRows = (host: string): [string, string][] => [
  ['Address', `HOST is ${host}: set BASE_URL to the address that clients use,`],
  ['', 'which links in mails and cookies depend on'],
]

const count = (limit: number) => limit.toLocaleString('en-US')

/** Returns a sentence such as `other accounts, plan "free": 60 requests a minute, 10 at once`. */
function toLine({ name, ...plan }: PlanLimits): string {
  const limits = [
    [plan.requestsPerMinute, 'requests a minute'],
    [plan.tokensPerMinute, 'tokens a minute'],
    [plan.concurrentRequests, 'at once'],
  ] as const
  const set = limits.flatMap(([limit, unit]) => (limit === null ? [] : `${count(limit)} ${unit}`))
  return `other accounts, plan "${name}": ${set.join(', ') || 'no limits'}`
}

const launcher = join(import.meta.dir, '../../../bin/tollgate.mjs')

/**
 * Returns a Tollgate command as a user types it, wherever that is: a variable of the launcher shows that it runs from
 * source. Never by npx, which runs a package of that name from the registry where there is no checkout.
 */
export const toCommand = (name: string): string =>
  process.env['TOLLGATE_NODE'] === undefined
    ? `tollgate ${name}`
    : `node ${quotePath(formatPath(launcher))} ${name}`

function curl({ address, firstKey, firstKeyPath }: Welcome): string[] {
  const keyText = firstKeyPath ? `$(cat ${quotePath(formatPath(firstKeyPath))})` : '$TOLLGATE_KEY'
  return [
    '  Try it, with a model that needs no provider:',
    '',
    `  curl ${address}/v1/chat/completions \\`,
    `    -H "Authorization: Bearer ${firstKey ?? keyText}" \\`,
    `    -H "Content-Type: application/json" \\`,
    `    -d '{"model": "sandbox/echo", "messages": [{"role": "user", "content": "Hello!"}]}'`,
  ]
}
