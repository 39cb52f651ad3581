import { Box } from '@mantine/core'
import type { ReactNode } from 'react'

/** Key figures, three per line; two on a phone. See `layout.css`. */
export const Tiles = ({ children }: { children: ReactNode }) => (
  <Box className="tiles">{children}</Box>
)
