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
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiError } from './api/client'
import { createAppRouter } from './app/router'
import { cssVariables, theme } from './app/theme'

const maxRetries = 2

/** A request that the service rejected would be rejected again. */
const isWorthRetrying = (count: number, error: Error) =>
  count < maxRetries && (!(error instanceof ApiError) || error.status === 0 || error.status >= 500)

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      retry: isWorthRetrying,
      staleTime: 10_000,
      // Without a network, requests fail where their data is shown instead of waiting without a word.
      networkMode: 'always',
      refetchOnReconnect: true,
    },
  },
})
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
