import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { UsageError, toErrorText } from './text'

const text = z.string().min(1).max(4096)
const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of a variable')

/** A model server. Its key is referenced, never written here. */
const ServerRow = z
  .strictObject({
    provider: text.max(200),
    base_url: text.optional(),
    api_key_env: variableName.optional(),
    api_key_file: text.optional(),
    models: z.array(text.max(200)).min(1).max(2000).optional(),
  })
  .refine((row) => !(row.api_key_env && row.api_key_file), 'must not have two keys')

const toolServer = {
  name: z.string().regex(/^[A-Za-z0-9_-]{1,32}$/, 'must have 1 to 32 letters, digits, _ and -'),
  allow: z.array(text.max(200)).min(1).max(200),
}

/** A tool server: a command, or an address. */
const ToolRow = z.union([
  z.strictObject({
    ...toolServer,
    command: text,
    args: z.array(z.string().max(4096)).max(200).default([]),
    env: z.record(variableName, z.string().max(32_768)).default({}),
  }),
  z.strictObject({
    ...toolServer,
    url: text,
    token_env: variableName.optional(),
    token_file: text.optional(),
  }),
])

const ConfigFile = z.strictObject({
  url: text.optional(),
  token_file: text.optional(),
  servers: z.array(ServerRow).max(50).default([]),
  tools: z.array(ToolRow).max(50).default([]),
})
export type ConfigFile = z.output<typeof ConfigFile>

/** Reads a file. Throws `UsageError`. */
export function readText(path: string, label: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (thrown) {
    throw new UsageError(`The ${label} ${path} cannot be read: ${toErrorText(thrown)}.`)
  }
}

/** Reads the first line of a file that holds a secret. Throws `UsageError`. */
export function readSecretFile(path: string, label: string): string {
  const secret = readText(path, label).split('\n')[0]?.trim() ?? ''
  if (secret === '') throw new UsageError(`The ${label} ${path} is empty.`)
  return secret
}

/** Reads the configuration. Throws `UsageError` that names the field, never its value. */
export function readConfigFile(path: string): ConfigFile {
  const read = ConfigFile.safeParse(jsonOf(readText(path, 'configuration'), path))
  if (read.success) return read.data
  const issue = deepest(read.error.issues)
  const field = issue?.path.join('.') || 'the whole'
  throw new UsageError(`${path}: ${field}: ${issue?.message ?? 'is invalid'}.`)
}

/** Returns the deepest issue: of a union's branches, the one that matched furthest is the most specific. */
function deepest(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue | undefined {
  const [issue] = issues
  if (issue?.code !== 'invalid_union') return issue
  const inner = issue.errors.toSorted((a, b) => a.length - b.length)[0] ?? []
  const nested = deepest(inner)
  return nested ? { ...nested, path: [...issue.path, ...nested.path] } : issue
}

function jsonOf(json: string, path: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    // The parser's message would quote the content.
    throw new UsageError(`${path} is not valid JSON.`)
  }
}
