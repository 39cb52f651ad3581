/** Shorter secrets would match parts of words. */
const minLength = 8
const secretName = /(KEY|SECRET|PASSWORD|TOKEN|CREDENTIALS?)S?$/

const passwordsIn = (url: string): string[] => {
  const { password = '' } = URL.parse(url) ?? {}
  try {
    return [password, decodeURIComponent(password)]
  } catch {
    return [password]
  }
}

/** Parses `name=value` pairs, separated by commas and percent-encoded. */
const headerValues = (text: string): string[] =>
  text.split(',').flatMap((pair) => {
    const value = pair.slice(pair.indexOf('=') + 1).trim()
    try {
      return [value, decodeURIComponent(value)]
    } catch {
      return [value]
    }
  })

function secretsOf(name: string, value: string): string[] {
  if (/^OTEL_.*HEADERS$/.test(name)) return headerValues(value)
  if (name.endsWith('_URL')) return passwordsIn(value)
  // Some variables contain several named secrets.
  return secretName.test(name) ? [value, ...value.split(/[,:]\s*/)] : []
}

/** Returns the secrets in an environment, which must never be written to the log. */
export function findSecrets(environment: Readonly<Record<string, string | undefined>>): string[] {
  const secrets = Object.entries(environment).flatMap(([name, value]) =>
    value ? secretsOf(name, value) : [],
  )
  // The longest first: a secret that is a part of another must not break it up.
  return [...new Set(secrets.filter(({ length }) => length >= minLength))].toSorted(
    (a, b) => b.length - a.length,
  )
}
