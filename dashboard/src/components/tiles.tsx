import { Box } from '@mantine/core'
import type { ReactNode } from 'react'

/** Figures that matter, three in a line; two on a phone. See `layout.css`. */
export const Tiles = ({ children }: { children: ReactNode }) => (
  <Box className="tiles">{children}</Box>
)
