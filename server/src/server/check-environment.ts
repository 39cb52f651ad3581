import { StartError } from '../platform/config/config'
import { variableNames } from '../platform/config/settings'
import { editDistance } from '../platform/edit-distance'
import { ConnectionOptions } from '../providers/connection-options'
import type { Provider } from '../providers/provider'
import { baseUrlVariable } from '../providers/define-provider'
import type { Source } from '../platform/config/setting'

/** Variables of external sign-in, of the launcher and of libraries, which no schema contains. */
const others = [
  'GITHUB_CLIENT_ID',
  'GITHUB_CLIENT_SECRET',
  'GOOGLE_CLIENT_ID',
  'GOOGLE_CLIENT_SECRET',
  'OLLAMA_HOST',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
  'OTEL_RESOURCE_ATTRIBUTES',
  'TOLLGATE_BUN',
  'TOLLGATE_COMMIT',
  'VLLM_API_KEY',
]

/** Returns the names of all variables that a server reads. */
export const knownVariables = (providers: readonly Provider[]): string[] => [
  ...new Set([...variableNames, ...others, ...providers.flatMap(namesOf)]),
]

const namesOf = (provider: Provider): string[] => [
  baseUrlVariable(provider.key),
  ...provider.keyVariables,
  ...(provider.keyFields ?? []),
  ...(provider.keyFiles ?? []),
  ...Object.values(provider.optionVariables ?? {}),
  ...Object.values(provider.variables),
]

/** Checks the addresses and options in providers' variables. Throws `StartError` for the first invalid one. */
export function checkProviderVariables(source: Source, providers: readonly Provider[]): void {
  for (const provider of providers) {
    const variable = baseUrlVariable(provider.key)
    const address = source[variable]
    if (address && !isAddress(address)) {
      throw new StartError(
        `${variable}: must be an http or https URL such as https://api.example.com/v1, without user and password`,
      )
    }
    if (provider.keyVariables.some((name) => source[name])) checkOptions(source, provider)
  }
}

function isAddress(text: string): boolean {
  const url = URL.parse(text)
  return (
    url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
  )
}

/** Checks only providers whose key is set: without one, a region may be meant for another program. */
function checkOptions(source: Source, { optionVariables = {} }: Provider): void {
  for (const [option, variable] of Object.entries(optionVariables)) {
    const value = source[variable]
    if (!value) continue
    const [issue] = ConnectionOptions.safeParse({ [option]: value }).error?.issues ?? []
    if (issue) throw new StartError(`${variable}: ${issue.message.replace(/\.$/, '')}`)
  }
}

/**
 * Returns warnings about unknown variables whose names are similar to known ones. Other programs have variables too: a
 * name must differ in one word only, by a letter or two.
 */
export function findMisspelt(source: Source, providers: readonly Provider[]): string[] {
  const knownNames = new Set(knownVariables(providers).flatMap((name) => [name, `${name}_FILE`]))
  return Object.keys(source).flatMap((name) => {
    if (!source[name] || knownNames.has(name) || !/^[A-Z][A-Z0-9_]{3,60}$/.test(name)) return []
    const similar = [...knownNames].find((one) => isNear(name, one))
    return similar === undefined ? [] : `${name} is not read. Did you mean ${similar}?`
  })
}

function isNear(name: string, knownName: string): boolean {
  if (Math.abs(name.length - knownName.length) > 2) return false
  const [terms, knownTerms] = [name.split('_'), knownName.split('_')]
  // A missing or an additional underscore.
  if (terms.length !== knownTerms.length) return terms.join('') === knownTerms.join('')
  const differing = terms.flatMap((term, at) =>
    term === knownTerms[at] ? [] : [[term, knownTerms[at] ?? ''] as const],
  )
  const [pair] = differing
  if (differing.length !== 1 || !pair) return false
  const [term, similar] = pair
  if (`${term}S` === similar || term === `${similar}S`) return true
  const steps = editDistance(term, similar, 2)
  // With three letters, one different letter makes another word: only their order may be wrong.
  if (Math.min(term.length, similar.length) < 4) return steps === 1 && isAnagram(term, similar)
  return steps <= (similar.length >= 8 ? 2 : 1)
}

const isAnagram = (a: string, b: string) =>
  a.length === b.length && a.split('').toSorted().join('') === b.split('').toSorted().join('')
