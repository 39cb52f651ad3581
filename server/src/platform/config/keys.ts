import { z } from 'zod'

const keyAdvice = 'must be 32 random bytes in base64: openssl rand -base64 32'

/** A key of `ENCRYPTION_KEY`: 32 bytes, and its name if it has one. */
export interface NamedKey {
  id: string | undefined
  key: Buffer
}

const Key = z
  .string()
  // Decoding ignores characters that are not base64, and a damaged key would open nothing.
  .regex(/^[\w+/-]{43}=?$/, keyAdvice)
  .transform((text) => Buffer.from(text, 'base64'))
  .refine((key) => key.some((byte) => byte !== key[0]), keyAdvice)

const maxKeys = 20

/** Parses `<base64>`, or `<id>:<base64>` several times with commas between: the first key is the current one. */
export const Keys = z.string().transform((text, context): NamedKey[] => {
  const keys = text.split(',').flatMap((part) => {
    const [, id, base64] = /^(?:([\w.-]{1,40}):)?(.*)$/s.exec(part.trim()) ?? []
    const key = Key.safeParse(base64)
    return key.success ? [{ id, key: key.data }] : []
  })
  const names = keys.map(({ id, key }) => id ?? key.toString('base64'))
  if (keys.length < text.split(',').length) context.addIssue(keyAdvice)
  else if (keys.length > maxKeys) context.addIssue(`must be at most ${maxKeys} keys`)
  else if (new Set(names).size < keys.length) context.addIssue('must name each key once')
  return keys
})

/** Reads keys in the format of `ENCRYPTION_KEY`; undefined if they are damaged. */
export const readKeys = (text: string): NamedKey[] | undefined => Keys.safeParse(text).data
