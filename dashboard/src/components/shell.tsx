import {
  ActionIcon,
  AppShell,
  Avatar,
  Burger,
  Group,
  Menu,
  NavLink,
  ScrollArea,
  Text,
  UnstyledButton,
  VisuallyHidden,
  useMantineColorScheme,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { Link, Outlet, useNavigate } from '@tanstack/react-router'
import { Brand } from './brand'
import { InboxLink } from './inbox-link'
import { sessionQuery, signIn } from '../session'

/** Where the dashboard leads, in groups. */
const places = [
  {
    name: 'Use',
    links: [
      { to: '/', label: 'Overview' },
      { to: '/playground', label: 'Playground' },
      { to: '/models', label: 'Models' },
      { to: '/logs', label: 'Logs' },
    ],
  },
  {
    name: 'Routing',
    links: [
      { to: '/connections', label: 'Connections' },
      { to: '/collections', label: 'Collections' },
      { to: '/mappings', label: 'Mappings' },
    ],
  },
  {
    name: 'Account',
    links: [
      { to: '/keys', label: 'API keys' },
      { to: '/billing', label: 'Billing' },
      { to: '/quota', label: 'Quota' },
      { to: '/alerts', label: 'Alerts' },
      { to: '/inbox', label: 'Inbox' },
      { to: '/organizations', label: 'Organizations' },
      { to: '/support', label: 'Support' },
      { to: '/prompts', label: 'Prompts' },
      { to: '/settings', label: 'Settings' },
      { to: '/settings/security', label: 'Security' },
    ],
  },
] as const

export function Shell() {
  const [isOpen, { toggle, close }] = useDisclosure()
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 232, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding="md"
    >
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger
              opened={isOpen}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label="Navigation"
            />
            <Brand />
          </Group>
          <Tools />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs">
        <ScrollArea>
          <nav aria-label="Main">
            {places.map(({ name, links }) => (
              <div key={name}>
                <Text size="xs" c="dimmed" fw={600} px="sm" pt="sm" pb={4}>
                  {name}
                </Text>
                {links.map(({ to, label }) => (
                  <NavLink
                    key={to}
                    label={label}
                    renderRoot={(props) => (
                      <Link
                        to={to}
                        activeOptions={{
                          exact: to === '/' || to === '/settings',
                          includeSearch: false,
                        }}
                        activeProps={{ 'data-active': true, 'aria-current': 'page' }}
                        onClick={close}
                        {...props}
                      />
                    )}
                  />
                ))}
              </div>
            ))}
          </nav>
        </ScrollArea>
      </AppShell.Navbar>
      <AppShell.Main>
        <Outlet />
      </AppShell.Main>
    </AppShell>
  )
}

const Tools = () => (
  <Group gap="xs" wrap="nowrap">
    <InboxLink />
    <SchemeToggle />
    <AccountMenu />
  </Group>
)

function SchemeToggle() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const next = { auto: 'light', light: 'dark', dark: 'auto' } as const
  const sign = { auto: '◐', light: '☀', dark: '☾' } as const
  return (
    <ActionIcon
      variant="subtle"
      size="lg"
      onClick={() => setColorScheme(next[colorScheme])}
      aria-label={`Colours: ${colorScheme}. Change to ${next[colorScheme]}`}
      title={`Colours: ${colorScheme}`}
    >
      {sign[colorScheme]}
    </ActionIcon>
  )
}

function AccountMenu() {
  const { data } = useSuspenseQuery(sessionQuery)
  const queries = useQueryClient()
  const navigate = useNavigate()
  const leave = async () => {
    await signIn.signOut()
    queries.clear()
    await navigate({ to: '/sign-in', search: { to: undefined, error: undefined } })
  }
  return (
    <Menu position="bottom-end" width={230}>
      <Menu.Target>
        <UnstyledButton>
          <VisuallyHidden>Your account</VisuallyHidden>
          <Avatar
            name={data?.user.name ?? ''}
            variant="filled"
            color="brand"
            size={34}
            aria-hidden
          />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{data?.user.email}</Menu.Label>
        <Menu.Item renderRoot={(props) => <Link to="/settings/security" {...props} />}>
          Security
        </Menu.Item>
        <Menu.Item component="a" href="/docs">
          API reference
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item onClick={() => void leave()}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
