import { Box } from '@mantine/core'
import type { ReactNode } from 'react'

/** Key figures, three per line, or four where three would leave a single one; two on a phone. See `layout.css`. */
export const Tiles = ({ children }: { children: ReactNode }) => (
  <Box className="tiles">{children}</Box>
)
