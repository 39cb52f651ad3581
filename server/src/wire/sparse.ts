import { z } from 'zod'
import type { CustomIssue } from './field-error'
import { isObject, type JsonObject } from './json-body'

/** Returns whether a value matches a schema. */
type Judge = (value: unknown) => boolean

/**
 * Returns a faster schema with the same results for objects that have few of the many fields they may
 * have, as requests do: zod makes objects for each absent field, and copies each present one. Here present
 * fields are judged, and nothing is made of them. Values that fail are parsed by zod, so that every error
 * is its own.
 *
 * For loose objects of JSON whose fields are checked and not changed: no defaults, no transforms.
 */
export function toSparse<Schema extends z.ZodObject>(schema: Schema): Schema {
  // Made when it is first needed, as that takes milliseconds.
  let judge: Judge | undefined
  const isFine = (value: unknown): value is z.output<Schema> => {
    judge ??= judgeOf(schema)
    return judge(value)
  }
  return z.withParser(schema, (input) => (isFine(input) ? { ...input } : z.INVALID))
}

/** The judges of rules, by their checks. */
const ruleJudges = new WeakMap<object, Judge>()

/**
 * Adds a rule of our own to a schema: `findFaults` returns an empty list for nearly all values, the same each time. zod
 * makes a context for each value that such a rule sees; a sparse schema judges by it alone.
 */
export function withRule<Schema extends z.ZodObject>(
  schema: Schema,
  findFaults: (value: JsonObject) => readonly CustomIssue[],
): Schema {
  const ruledSchema = schema.superRefine((value, ctx) => {
    if (isObject(value)) for (const fault of findFaults(value)) ctx.addIssue(fault)
  })
  const rule = ruledSchema.def.checks?.at(-1)
  if (rule) ruleJudges.set(rule, (value) => isObject(value) && findFaults(value).length === 0)
  return ruledSchema
}

function judgeOf(schema: z.core.$ZodType): Judge {
  if (isWrapper(schema)) return wrapperJudge(schema)
  if (isPlainUnion(schema)) return unionJudge(schema)
  if (schema instanceof z.ZodObject && schema.def.catchall instanceof z.ZodUnknown) {
    return objectJudge(schema)
  }
  if (schema instanceof z.ZodArray) return arrayJudge(schema)
  const compiled = z.compile(schema)
  return (value) => z.validate(compiled, value)
}

const hasChecks = ({ def }: { def: z.core.$ZodTypeDef }) => (def.checks?.length ?? 0) > 0

const isWrapper = (schema: z.core.$ZodType): schema is z.ZodOptional | z.ZodNullable =>
  (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) && !hasChecks(schema)

function wrapperJudge(schema: z.ZodOptional | z.ZodNullable): Judge {
  const isFine = judgeOf(schema.unwrap())
  const absentValue = schema instanceof z.ZodNullable ? null : undefined
  return (value) => value === absentValue || isFine(value)
}

/** Whether any of a union's options decides, whichever it is. */
const isPlainUnion = (schema: z.core.$ZodType): schema is z.ZodUnion =>
  schema instanceof z.ZodUnion &&
  !(schema instanceof z.ZodDiscriminatedUnion) &&
  schema.def.inclusive !== false &&
  !hasChecks(schema)

function unionJudge({ options }: z.ZodUnion): Judge {
  const judges = options.map(judgeOf)
  return (value) => {
    for (const isFine of judges) if (isFine(value)) return true
    return false
  }
}

function objectJudge({ shape, def }: z.ZodObject): Judge {
  const fields = new Map(Object.entries(shape).map(([name, field]) => [name, judgeOf(field)]))
  const required = Object.keys(shape).filter((name) => !(shape[name] instanceof z.ZodOptional))
  const keepsRules = rulesOf(def)
  return (value) => {
    if (!isObject(value)) return false
    for (const name of required) if (!(name in value)) return false
    for (const name in value) if (fields.get(name)?.(value[name]) === false) return false
    return keepsRules(value)
  }
}

function arrayJudge({ element, def }: z.ZodArray): Judge {
  const isFine = judgeOf(element)
  const keepsRules = rulesOf(def)
  return (value) => {
    if (!Array.isArray(value) || !keepsRules(value)) return false
    for (const item of value) if (!isFine(item)) return false
    return true
  }
}

/** Returns a judge of a value as a whole, whatever is in it: its length, or how its fields agree. */
function rulesOf({ checks }: z.core.$ZodTypeDef): Judge {
  if (checks === undefined || checks.length === 0) return () => true
  const judges = checks.flatMap((rule) => ruleJudges.get(rule) ?? [])
  const others = checks.filter((rule) => !ruleJudges.has(rule))
  if (others.length > 0) {
    const compiled = z.compile(new z.ZodUnknown({ type: 'unknown', checks: others }))
    judges.unshift((value) => z.validate(compiled, value))
  }
  return (value) => {
    for (const keepsRule of judges) if (!keepsRule(value)) return false
    return true
  }
}
