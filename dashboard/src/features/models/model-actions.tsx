import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { serviceQuery } from '../../api/installation'
import { CodeTabs } from '../../components/code-tabs'
import { isPlaygroundKind, toPlaygroundSearch } from '../playground/kinds'
import { examplesOf } from './code'
import type { Model } from './queries'

/** Opens the playground with a model of one of its kinds that can be called. */
export const TryModel = ({ model }: { model: Model }) =>
  isPlaygroundKind(model.category) && model.billing_mode !== null ? (
    <Button
      size="xs"
      renderRoot={(props) => (
        <Link to="/playground" search={toPlaygroundSearch(model)} {...props} />
      )}
      aria-label={`Try it: ${model.name}`}
    >
      Try it
    </Button>
  ) : null

/** The first request to a model in several languages. */
export function ModelCode({ model: { id: model, category } }: { model: Model }) {
  const { data } = useQuery(serviceQuery)
  const base = `${data?.base_url ?? window.location.origin}/v1`
  const examples = examplesOf({ base, model, category })
  return (
    <Stack component="section" gap="xs" aria-label="Code">
      <Title order={3} size="h4">
        Code
      </Title>
      <CodeTabs examples={examples} />
      <Group>
        <Text size="xs" c="dimmed">
          With an API key in TOLLGATE_KEY.
        </Text>
      </Group>
    </Stack>
  )
}
