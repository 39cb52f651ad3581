import { Box } from '@mantine/core'
import type { ReactNode } from 'react'

/** A row of filters; two columns on a phone. See `layout.css`. */
export const Filters = ({ children }: { children: ReactNode }) => (
  <Box component="search" className="filters">
    {children}
  </Box>
)
