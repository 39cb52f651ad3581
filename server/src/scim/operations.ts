import { z } from 'zod'
import { parsePath, type AttributePath } from './filter'
import { badRequest } from './scim-error'
import type { JsonObject } from '../wire/json-body'

const maxOperations = 200

/** One operation of a PATCH. */
export interface PatchOperation {
  op: 'add' | 'remove' | 'replace'
  /** Undefined where `value` is an object of the attributes to change. */
  path: AttributePath | undefined
  value: unknown
}

const Patch = z.object({
  Operations: z
    .array(
      z.object({
        // Entra ID begins them with a capital letter.
        op: z
          .string()
          .toLowerCase()
          .pipe(z.enum(['add', 'remove', 'replace'])),
        path: z.string().nullish(),
        value: z.unknown().optional(),
      }),
    )
    .min(1)
    .max(maxOperations),
})

/** Returns the operations of a PATCH. Throws `invalidSyntax`, `invalidPath`. Source: RFC 7644 3.5.2. */
export function toOperations(body: JsonObject): PatchOperation[] {
  const patch = Patch.safeParse(body)
  if (!patch.success) {
    const message = `Operations: 1 to ${maxOperations} of op "add", "remove" or "replace".`
    throw badRequest('invalidSyntax', message)
  }
  return patch.data.Operations.map(({ op, path, value }) => {
    if (!path && op === 'remove') throw badRequest('noTarget', 'path: required to remove.')
    return { op, path: path ? parsePath(path) : undefined, value }
  })
}
