import { closeSync, openSync, readSync } from 'node:fs'
import { knownVariables } from './check-environment'
import { StartError } from '../platform/config/config'
import type { Source } from '../platform/config/setting'
import { providers } from '../providers/registry'

const ending = '_FILE'
/** Variables with a secret, in an address too, certificates, and the ids that come with one. */
const fromFile = /(?:KEY|SECRET|TOKEN|HEADERS|CERTIFICATES|_ID|(?<!(?:^|_)BASE)_URL)$/
const maxFileBytes = 65_536

/**
 * Returns the environment with the secrets that are in files, as container platforms mount them: the text of the file
 * that `DATABASE_URL_FILE` names is the value of `DATABASE_URL`, without the line breaks at its end. Throws `StartError`
 * for a file that cannot be read, is empty or larger than 64 kB, and where both variables are set.
 */
export function readEnvironment(environment: Source = process.env): Source {
  const knownNames = new Set(fileVariables())
  const values: Record<string, string> = {}
  for (const [variable, path] of Object.entries(environment)) {
    const name = variable.slice(0, -ending.length)
    if (!path || !variable.endsWith(ending) || !knownNames.has(name)) continue
    if (environment[name]) throw new StartError(`${variable}: set either this or ${name}`)
    values[name] = readValue(variable, path)
  }
  return { ...environment, ...values }
}

/** Returns the names of the variables whose values can be in files. */
export const fileVariables = (): string[] =>
  knownVariables(providers).filter((name) => fromFile.test(name))

function readValue(variable: string, path: string): string {
  const value = readStart(variable, path).replace(/[\r\n]+$/, '')
  if (value === '') throw new StartError(`${variable}: ${path} is empty`)
  return value
}

/** Reads no more than a secret may have: the path may name a device. */
function readStart(variable: string, path: string): string {
  const bytes = Buffer.alloc(maxFileBytes + 1)
  let length = 0
  try {
    const fd = openSync(path, 'r')
    try {
      for (let read = -1; read !== 0 && length < bytes.length; length += read) {
        read = readSync(fd, bytes, length, bytes.length - length, null)
      }
    } finally {
      closeSync(fd)
    }
  } catch (thrown) {
    const reason = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unknown'
    throw new StartError(`${variable}: ${path} cannot be read (${reason})`)
  }
  if (length <= maxFileBytes) return bytes.toString('utf8', 0, length)
  throw new StartError(`${variable}: ${path} is larger than 64 kB`)
}
