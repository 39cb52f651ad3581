import { z } from 'zod'

/** The values of environment variables by their names. */
export type Source = Readonly<Record<string, string | undefined>>

/** The environment variable of a setting, as docs/operate/configuration.md describes it. */
interface Variable {
  name: string
  /** The meaning of its value, in Markdown. */
  doc: string
  /** The default in Markdown, where its schema has none. */
  unset?: string
}

export interface DeclaredSetting extends Variable {
  /** The keys that lead to its value in the configuration. */
  path: readonly string[]
  schema: z.core.$ZodType
}

const variables = z.registry<Variable>()

/** Declares a setting: the values that it accepts, and the variable that it is read from. */
export function setting<Schema extends z.ZodType>(schema: Schema, variable: Variable): Schema {
  variables.add(schema, variable)
  return schema
}

/** Lists the settings in a schema, where an object stands for a group of them. */
export const listSettings = (group: z.ZodObject, path: readonly string[] = []): DeclaredSetting[] =>
  Object.entries(group.shape).flatMap(([key, schema]) => {
    if (schema instanceof z.ZodObject) return listSettings(schema, [...path, key])
    const variable = variables.get(schema)
    return variable ? [{ ...variable, path: [...path, key], schema }] : []
  })

/**
 * Arranges the values of variables as a schema has their settings. An empty variable counts as unset: compose files
 * and shells write unset variables so.
 */
export const arrangeValues = (group: z.ZodObject, source: Source): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(group.shape).map(([key, schema]) => {
      if (schema instanceof z.ZodObject) return [key, arrangeValues(schema, source)]
      return [key, source[variables.get(schema)?.name ?? ''] || undefined]
    }),
  )
