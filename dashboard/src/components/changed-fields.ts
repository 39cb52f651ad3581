/** The fields of a form for a request body; an empty text stands for no value. */
type FieldsOf<Body> = { readonly [Name in keyof Body]?: Body[Name] | '' }

function toValues(fields: readonly [string, unknown][]) {
  const values = fields.map(([name, value]) => [name, value === '' ? null : value])
  return Object.fromEntries(values)
}

/** Returns the fields as a request body, where null stands for no value. */
export const toBody = <Body extends object>(fields: FieldsOf<Body>): Body =>
  toValues(Object.entries(fields))

/** Returns those fields as a request body whose values differ from the ones before. */
export const changedFields = <Body extends object>(
  fields: FieldsOf<Body>,
  before: object,
): Partial<Body> =>
  toValues(
    Object.entries(fields).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(Reflect.get(before, name)),
    ),
  )
