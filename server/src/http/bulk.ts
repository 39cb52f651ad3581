import { z } from 'zod'
import type { ApiError } from '../errors'
import { toFieldError } from '../wire/field-error'

/** An item of a bulk request: its value, or its error. */
export type BulkItem<Value> = { value: Value } | { error: ApiError }

/** The items of a bulk request. Each is validated alone, so that an invalid one does not fail the others. */
export const bulkItems = <Schema extends z.ZodType>(schema: Schema) =>
  z
    .array(
      schema
        .transform((value): BulkItem<z.output<Schema>> => ({ value }))
        .catch(({ error, input }) => ({ error: toFieldError(error, input) })),
    )
    .min(1)
    .max(100)
