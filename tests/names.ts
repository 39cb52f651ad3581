import { join } from 'node:path'
import { type DeclaredName, declaredNames } from './declared-names'

/**
 * Finds unclear names: a bare participle (`known`, `sent`), a bound that is not called a maximum (`longestWaitMs`), and
 * words for which the field has others. `knownKey`, `isSent`, `maxWaitMs` are clear.
 *
 * `node bin/tollgate.mjs run tests/names.ts` shortens the list of exceptions, and never lengthens it.
 */
const root = join(import.meta.dir, '..')
const listPath = join(import.meta.dir, 'name-exceptions.json')
const folders = ['server/src', 'cli', 'connect']
const skipped =
  /node_modules\/|\.test\.ts$|-for-tests\.ts$|\.d\.(?:json\.)?ts$|platform\/db\/migrations\//

/** The folders of a request's path: none of their names is an exception. */
export const coreFolders = ['gateway', 'routing', 'auth', 'ledger', 'metering', 'limits']
const isCore = (path: string): boolean =>
  coreFolders.some((folder) => path.startsWith(`server/src/${folder}/`))

const toSet = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/))

const participles = toSet(`
  admitted asked authenticated billed called chosen done earned entered existing expanded expired foreign
  forwarded found gained given gone heard held hosted ignored joined judged kept known lacking left loaded
  lowered made mapped matched meant metered missing named narrowed noted observed passed planned preferred
  priced published quoted recalled recorded renewed resolved retained retired reversed rotated routed said seen
  selected sent shown skipped taken told translated usable wanted watched
`)

/** Participles that are rejected in the core folders only; the other folders still have several hundred of them. */
const coreParticiples = toSet(`
  accepted added allowed announced answered applied begun booked cached changed charged checked claimed closed
  collected counted created cut deleted discovered dispatched dropped ended expected failed failing fetched
  fitting fixed granted grown inserted limited listed locked lost measured moved needed notified offered omitted
  opened ordered owned packed read received refused rejected relayed reported requested required sealed served
  settled shared started stopped stored unknown unread updated usual written
`)

/** Verbs too, as names of functions. */
const verbs = toSet('cut read')

const words: readonly (readonly [RegExp, string])[] = [
  [/^(?:most|longest|furthest)(?:[A-Z]|$)/, 'a bound is `max…`'],
  [/^(?:patience|.*Patience)(?:$|Ms|[A-Z])/, 'a wait is bounded by a `timeout`'],
  [
    /^(?:nobody|somebody|whoever|strangers?|visitors?)(?:$|[A-Z])/,
    'name the caller, client or account',
  ],
  [/^(?:keyring|.*Keyring)$/, 'keys are `apiKeys`'],
  [/^(?:tell|told)(?:$|[A-Z])/, 'a report is `report…`, headers are set'],
  [/^(?:question|course|door|enter)$/, 'see the glossary'],
]

/** Says why a name is rejected; undefined where it is not. */
export function rejectionOf(path: string, { name, isFunction }: DeclaredName): string | undefined {
  if (verbs.has(name) && isFunction) return undefined
  if (participles.has(name) || (isCore(path) && coreParticiples.has(name))) {
    return 'a participle alone: say what it is that was so'
  }
  return words.find(([word]) => word.test(name))?.[1]
}

/** Returns the paths of all sources that are checked, from the root of the repository. */
export async function sourceFiles(): Promise<string[]> {
  const found: string[] = []
  for (const folder of folders) {
    for await (const file of new Bun.Glob('**/*.ts').scan({ cwd: join(root, folder) })) {
      const path = `${folder}/${file}`
      if (!skipped.test(path)) found.push(path)
    }
  }
  return found.toSorted()
}

/** Finds the rejected names of a source, as `line: name`, with the reason. */
export function findRejected(path: string, source: string): string[] {
  return declaredNames(path, source).flatMap((declared) => {
    const reason = rejectionOf(path, declared)
    const line = source.slice(0, declared.offset).split('\n').length
    return reason === undefined ? [] : [`${path}:${line}: ${declared.name}: ${reason}`]
  })
}

/** Finds the rejected names of all files that have any. */
export async function findAll(): Promise<Record<string, string[]>> {
  const rejected: Record<string, string[]> = {}
  for (const path of await sourceFiles()) {
    const names = findRejected(path, await Bun.file(join(root, path)).text())
    if (names.length > 0) rejected[path] = names
  }
  return rejected
}

/** Reads how many rejected names each file still has. */
export const readList = (): Promise<Record<string, number>> => Bun.file(listPath).json()

if (import.meta.main) {
  const rejected = await findAll()
  const shortened = Object.entries(await readList()).flatMap(([path, listed]) => {
    const count = Math.min(listed, rejected[path]?.length ?? 0)
    return count > 0 ? [[path, count] as const] : []
  })
  await Bun.write(listPath, `${JSON.stringify(Object.fromEntries(shortened), null, 2)}\n`)
}
