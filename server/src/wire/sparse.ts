import { z } from 'zod'
import { isObject } from './json-body'

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

function judgeOf(schema: z.core.$ZodType): Judge {
  if (schema instanceof z.ZodObject && schema.def.catchall instanceof z.ZodUnknown) {
    return objectJudge(schema)
  }
  if (schema instanceof z.ZodArray) return arrayJudge(schema)
  const compiled = z.compile(schema)
  return (value) => z.validate(compiled, value)
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
  return judgeOf(new z.ZodUnknown({ type: 'unknown', checks }))
}
