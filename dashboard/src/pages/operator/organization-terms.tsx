import { Button, Group, NumberInput, Select, SimpleGrid, Stack, Switch } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { changesOf } from '../../changes'
import { Card } from '../../components/card'
import { Problem } from '../../components/problem'
import type { Operated } from '../../operator/organizations'
import { PlanSelect } from '../../operator/plan-select'
import { useSubmit } from '../../submit'

const kinds = [
  { value: 'cloud_provider', label: 'Cloud provider' },
  { value: 'enterprise_it', label: 'Enterprise IT' },
  { value: 'research_institution', label: 'Research institution' },
  { value: 'startup', label: 'Startup' },
]

const fieldsOf = (one: Operated) => ({
  plan_id: one.plan_id,
  member_limit: one.member_limit,
  provider_kind: one.provider_kind,
  payment_method_required: one.payment_method_required,
})

type Terms = ReturnType<typeof fieldsOf>

interface Props {
  organization: Operated
  save: (changes: object) => Promise<Operated>
}

/** The terms of an organization that only the operator sets. */
export function OrganizationTerms({ organization, save }: Props) {
  const before = fieldsOf(organization)
  const form = useForm({ initialValues: before })
  const { submit, isBusy, error } = useSubmit(async (fields: Terms) => {
    const kept = fieldsOf(await save(changesOf(fields, before)))
    form.setInitialValues(kept)
    form.setValues(kept)
    notifications.show({ message: 'Saved.' })
  }, form)
  return (
    <Card title="Terms">
      <form onSubmit={form.onSubmit((fields) => void submit(fields))}>
        <Stack gap="sm">
          <Problem error={error} />
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            <PlanSelect label="Plan" allowDeselect={false} {...form.getInputProps('plan_id')} />
            <NumberInput
              label="Member limit"
              description="If empty, the plan's limit"
              min={1}
              allowDecimal={false}
              thousandSeparator
              {...form.getInputProps('member_limit')}
            />
            <Select
              label="Kind"
              placeholder="Not set"
              clearable
              data={kinds}
              {...form.getInputProps('provider_kind')}
            />
          </SimpleGrid>
          <Switch
            label="Require payment before paid requests"
            {...form.getInputProps('payment_method_required', { type: 'checkbox' })}
          />
          <Group>
            <Button type="submit" loading={isBusy} disabled={!form.isDirty()}>
              Save terms
            </Button>
          </Group>
        </Stack>
      </form>
    </Card>
  )
}
