import { Box } from '@mantine/core'
import type { ReactNode } from 'react'

/** What narrows a list, in a row; two beside each other on a phone. See `layout.css`. */
export const Filters = ({ children }: { children: ReactNode }) => (
  <Box component="search" className="filters">
    {children}
  </Box>
)
