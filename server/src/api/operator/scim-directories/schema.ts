import { z } from 'zod'
import { ScimDirectory } from '../../account/scim-directories/schema'
import { Pagination } from '../../../http/paging'

export const AnyScimDirectoryList = z
  .object({ directories: z.array(ScimDirectory), pagination: Pagination })
  .meta({ ref: 'AnyScimDirectoryList' })
