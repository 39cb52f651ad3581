import '@mantine/core/styles.css'
import '@mantine/charts/styles.css'
import '@mantine/notifications/styles.css'
import './app/layout.css'
import './components/list-table.css'
import './components/markdown.css'
import './features/logs/waterfall.css'
import './app/motion.css'
import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { createQueryClient } from './api/query-client'
import { createAppRouter } from './app/router'
import { cssVariables, theme } from './app/theme'

const queries = createQueryClient()
const router = createAppRouter(queries)

const root = document.querySelector('#root')
if (!root) throw new Error('Element #root not found')
createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme="auto">
      <Notifications position="bottom-right" />
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
