import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fingerprintOf, type SealingKey, type SealingKeys } from './sealed'
import { readKeys, StartError, type Config, type NamedKey } from '../config'

/** What an installation has for itself, beside the database. */
export interface Installation {
  /** The operator key. */
  adminKey: string
  /** Where the operator key is kept, undefined where the environment holds it. */
  adminKeyPath: string | undefined
  /** What the stored secrets are sealed with. */
  sealingKeys: SealingKeys
}

const isCode = (thrown: unknown, code: string) =>
  thrown instanceof Error && Reflect.get(thrown, 'code') === code

/** The text of a file that only its owner reads; written at the first start. */
async function kept(path: string, make: () => string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((thrown: unknown) => {
    if (isCode(thrown, 'ENOENT')) return undefined
    throw new StartError(`${path} cannot be read. Make it readable to this user, or remove it.`)
  })
  if (text?.trim()) return text.trim()
  const made = make()
  await writeFile(path, `${made}\n`, { mode: 0o600 })
  return made
}

/** Reads or makes the keys of an installation. Throws `StartError`. */
export async function openInstallation(dataDir: string, config: Config): Promise<Installation> {
  const adminKeyPath = join(dataDir, 'admin-key')
  const adminKey =
    config.adminKey ??
    (await kept(adminKeyPath, () => `tg-admin-${randomBytes(24).toString('base64url')}`))
  return {
    adminKey,
    adminKeyPath: config.adminKey ? undefined : adminKeyPath,
    sealingKeys: await openSealingKeys(dataDir, config),
  }
}

/** The keys of the environment, else those in the data directory, made there if there is none. */
export async function openSealingKeys(
  dataDir: string,
  { encryptionKeys: given }: Pick<Config, 'encryptionKeys'>,
): Promise<SealingKeys> {
  const path = join(dataDir, 'encryption-key')
  const text = given ? '' : await kept(path, () => randomBytes(32).toString('base64'))
  const [first, ...others] = given ?? readKeys(text) ?? []
  if (first) return [toSealingKey(first), ...others.map(toSealingKey)]
  throw new StartError(`${path} is damaged. Restore it: secrets cannot be read without it.`)
}

const toSealingKey = ({ id, key }: NamedKey): SealingKey => ({
  id: id ?? fingerprintOf(key).toString('hex'),
  key,
})
