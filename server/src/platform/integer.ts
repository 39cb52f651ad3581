import { z } from 'zod'

/** The highest value of an `integer` column. */
export const maxInteger = 2_147_483_647

/** A limit on a count. */
export const limit = z.int().min(1).max(maxInteger)
