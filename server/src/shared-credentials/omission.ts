import { isUsedValue, type OnOmitted } from './credential'
import type { JsonObject } from '../wire/json-body'

/** As many as the header `x-tollgate-omitted` has. */
const maxNames = 20

/** Collects the names of omitted fields, of which a caller may have written any number. */
export class OmittedNames {
  readonly names: string[] = []

  readonly add: OnOmitted = (field) => {
    if (this.names.length < maxNames) this.names.push(field)
  }
}

/** Returns whether all fields of an object are in a list. */
export function hasListedFieldsOnly(holder: JsonObject, list: ReadonlySet<string>): boolean {
  for (const name in holder) if (!list.has(name)) return false
  return true
}

/** Returns an object without the fields that are not in a list; the same object where all are. */
export function withoutUnlisted(
  holder: JsonObject,
  list: ReadonlySet<string>,
  omit: OnOmitted,
): JsonObject {
  let copy: JsonObject | undefined
  for (const name in holder) {
    if (list.has(name)) continue
    if (isUsedValue(holder[name])) omit(name)
    copy ??= { ...holder }
    delete copy[name]
  }
  return copy ?? holder
}
