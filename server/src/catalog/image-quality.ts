import { z } from 'zod'

/** The name of a quality of images, such as `high` or `hd`. */
export const qualityName = z.string().regex(/^[a-z0-9_-]{1,32}$/, 'must be a name such as high.')
