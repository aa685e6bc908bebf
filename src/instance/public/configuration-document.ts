/**
 * The limits that the instance tells. What the server enforces it tells as it is enforced; what it has no feature for is
 * 0. `limits` in the settings overrides either, by path.
 */
/** What the settings say of limits, by path. */
type SetLimits = Readonly<Record<string, number>>

/** Where other features draw their lines. */
export interface EnforcedLimits {
  /** Of the text of a note. */
  noteCharacters: number
  /** Of the name and the title of a user. */
  nameCharacters: number
  titleCharacters: number
}

export function limitGroups(enforced: EnforcedLimits, { limits }: { limits: SetLimits }) {
  return {
    accounts: overridden('accounts', limits, {
      max_featured_tags: 0,
      max_pinned_statuses: 0,
      max_display_name_length: enforced.nameCharacters,
      max_note_length: enforced.titleCharacters,
      max_avatar_description_length: 0,
      max_header_description_length: 0,
      max_profile_fields: 0,
      profile_field_name_limit: 0,
      profile_field_value_limit: 0,
    }),
    statuses: overridden('statuses', limits, {
      max_characters: enforced.noteCharacters,
      max_media_attachments: 0,
      characters_reserved_per_url: 0,
    }),
    media_attachments: {
      supported_mime_types: [] as string[],
      ...overridden('media_attachments', limits, {
        description_limit: 0,
        image_size_limit: 0,
        image_matrix_limit: 0,
        video_size_limit: 0,
        video_frame_rate_limit: 0,
        video_matrix_limit: 0,
      }),
    },
    polls: overridden('polls', limits, {
      max_options: 0,
      max_characters_per_option: 0,
      min_expiration: 0,
      max_expiration: 0,
    }),
  }
}

/** What `limits` can override. */
export const LIMIT_PATHS: readonly string[] = Object.entries(
  limitGroups({ noteCharacters: 0, nameCharacters: 0, titleCharacters: 0 }, { limits: {} }),
).flatMap(([group, limits]) =>
  Object.entries(limits)
    .filter(([, limit]) => typeof limit === 'number')
    .map(([name]) => `${group}.${name}`),
)

function overridden<Group extends Record<string, number>>(name: string, limits: SetLimits, group: Group): Group {
  const entries = Object.entries(group).map(([key, value]) => [key, limits[`${name}.${key}`] ?? value])
  return Object.fromEntries(entries) as Group
}
