import { accessSync, constants, readFileSync, statfsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { failure, fine, warning, formatFinding, type DoctorFinding } from './finding'
import { isLoopbackHost } from '../../platform/config/address'
import type { Config } from '../../platform/config/config'
import type { Source } from '../../platform/config/setting'
import { formatBuild, readBuild } from '../../server/build'

const testedBun = '1.4.5'

/** Checks the runtime. The launcher passes the version of the Node.js that started it. */
export function lookAtRuntime({ TOLLGATE_NODE: node }: Source): DoctorFinding {
  const runtime = `Bun ${Bun.version}${node ? `, started by Node ${node}` : ''}`
  const what = `Tollgate ${formatBuild(readBuild())} on ${runtime}`
  if (Bun.version === testedBun) return fine('runtime', what)
  return warning('runtime', what, `Tollgate is tested with Bun ${testedBun}: run "npm ci".`)
}

/** Checks for proxy variables: a proxy would bypass the guard over the addresses of provider requests. */
export function lookAtProxies(environment: Source): DoctorFinding {
  const ignoredPaths = environment['TOLLGATE_IGNORED'] ?? ''
  const set = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY']
    .flatMap((name) => [name, name.toLowerCase()])
    .filter((name) => environment[name])
  if (set.length === 0 && ignoredPaths === '') return fine('proxies', 'none set')
  const names = [...set, ignoredPaths].filter(Boolean).join(', ')
  return warning(
    'proxies',
    `${names}: ignored, providers are reached directly`,
    'Let this machine reach the providers without a proxy, or unset them.',
  )
}

/** Checks the public address, which links in mails, cookies and sign-in depend on. */
export function lookAtBaseUrl({ baseUrl, host, port }: Config): DoctorFinding {
  if (baseUrl === undefined) {
    if (isLoopbackHost(host))
      return fine('address', `http://localhost:${port}, for this machine only`)
    const what = `HOST is ${host}, and BASE_URL, the address that clients use, is not set`
    return warning('address', what, 'Set BASE_URL to the address that callers use.')
  }
  const { protocol, hostname, pathname } = new URL(baseUrl)
  if (['0.0.0.0', '[::]'].includes(hostname)) {
    const what = `BASE_URL is ${baseUrl}, which no client can reach`
    return failure('address', what, 'Set BASE_URL to the address that callers use.')
  }
  if (pathname !== '/') {
    const what = `BASE_URL has the path ${pathname}`
    return warning('address', what, 'Serve Tollgate at the root of its own host name.')
  }
  if (protocol === 'http:' && !isLoopbackHost(hostname)) {
    const what = `BASE_URL is ${baseUrl}: keys and passwords go in clear text`
    return warning('address', what, 'Put a balancer that speaks https before it.')
  }
  return fine('address', baseUrl)
}

/** Returns the closest existing directory. */
function nearestExisting(path: string): string {
  try {
    statSync(path)
    return path
  } catch {
    return path === dirname(path) ? path : nearestExisting(dirname(path))
  }
}

export function lookAtDataDirectory({ dataDir }: Config): DoctorFinding {
  const path = resolve(dataDir)
  const existingPath = nearestExisting(path)
  const fix = 'Set DATA_DIR to a directory that this user may write.'
  try {
    accessSync(existingPath, constants.W_OK | constants.X_OK)
  } catch {
    return failure('data directory', `${existingPath} cannot be written by this user`, fix)
  }
  const stat = statSync(existingPath)
  if (!stat.isDirectory()) return failure('data directory', `${existingPath} is no directory`, fix)
  if (existingPath !== path) return fine('data directory', `${path} will be made`)
  const uid = process.getuid?.()
  if (uid !== undefined && stat.uid !== uid) {
    const what = `${path} belongs to the user ${stat.uid}, and this is ${uid}`
    return warning('data directory', what, 'Run Tollgate and this command as one user.')
  }
  if ((stat.mode & 0o066) !== 0) {
    const mode = (stat.mode & 0o777).toString(8)
    const what = `others may look into ${path} (${mode}), which holds keys`
    return warning('data directory', what, `chmod 711 ${path}`)
  }
  return fine('data directory', path)
}

const gigabyte = 1e9
const minFreeBytes = 200e6

export function lookAtDisk({ dataDir }: Config): DoctorFinding {
  const { bavail, bsize } = statfsSync(nearestExisting(resolve(dataDir)))
  const free = bavail * bsize
  const what = `${(free / gigabyte).toFixed(1)} GB free`
  const fix = 'Free some space: usage is written there before it is booked.'
  if (free < minFreeBytes) return failure('disk', what, fix)
  return free < 2 * gigabyte ? warning('disk', what, fix) : fine('disk', what)
}

const minFreeFiles = 8192

/** Checks the limit of open files: each stream takes two. */
export function lookAtFiles(): DoctorFinding {
  let text: string
  try {
    text = readFileSync('/proc/self/limits', 'utf8')
  } catch (thrown) {
    return fine('open files', `not known here: ${formatFinding(thrown)}`)
  }
  const [, soft = ''] = /^Max open files\s+(\S+)/m.exec(text) ?? []
  if (soft === 'unlimited' || Number(soft) >= minFreeFiles)
    return fine('open files', `up to ${soft}`)
  const what = `at most ${soft}: each stream takes two`
  return warning('open files', what, 'ulimit -n 65535, or LimitNOFILE=65535 of its unit.')
}

export function lookAtPayments({ payments }: Config): DoctorFinding {
  const { secretKey, webhookSecrets } = payments
  if (!secretKey && !webhookSecrets) return fine('payments', 'not set up')
  if (!secretKey || !webhookSecrets) {
    const what = `${secretKey ? 'STRIPE_WEBHOOK_SECRET' : 'STRIPE_SECRET_KEY'} is missing`
    return failure('payments', what, 'Set both, or neither.')
  }
  if (!webhookSecrets.every((secret) => /^whsec_\S{20,}$/.test(secret))) {
    const fix = 'Copy the signing secret of the endpoint from Stripe: it begins with whsec_.'
    return failure('payments', 'STRIPE_WEBHOOK_SECRET is not a Stripe signing secret', fix)
  }
  if (!/^(sk|rk)_(test|live)_/.test(secretKey)) {
    const fix = 'Copy the secret key from Stripe: it begins with sk_live_ or sk_test_.'
    return failure('payments', 'STRIPE_SECRET_KEY is not a Stripe secret key', fix)
  }
  return fine('payments', `Stripe, ${secretKey.includes('_test_') ? 'test' : 'live'} mode`)
}
