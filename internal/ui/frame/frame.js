// What every page of the console does besides: tables, keys, forms that are kept, live parts.
import { toast } from './basics.js';
import { keys } from './keys.js';
import { kept } from './kept.js';
import { live } from './live.js';
import { more } from './more.js';
import { rows } from './rows.js';
import { saving } from './save.js';
import { tables } from './tables.js';

export * from './basics.js';

tables(toast);
keys();
kept();
rows();
saving();
more();
live();
