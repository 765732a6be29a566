# Prints what the installed Devel::NYTProf reads from each file: every record, then the sums, raw and with evals
# merged. Numbers are shown by their bits and strings by their bytes, so that nothing is rounded or decoded.
use strict;
use warnings;
use Devel::NYTProf::Data;
use Devel::NYTProf::ReadStream qw(for_chunks);

my %layout = (
    VERSION => 'uu', COMMENT => 's', ATTRIBUTE => 'ss', OPTION => 'ss', START_DEFLATE => '', DISCOUNT => '',
    PID_START => 'uun', PID_END => 'un', NEW_FID => 'uuuuuus', TIME_LINE => 'iuu', TIME_BLOCK => 'iuuuu',
    SUB_ENTRY => 'uu', SUB_RETURN => 'unns', SRC_LINE => 'uus', SUB_INFO => 'uuus', SUB_CALLERS => 'uuunnnuss',
);
my %show = (
    u => sub { $_[0] },
    i => sub { unpack 'q', pack 'Q', $_[0] },
    n => sub { unpack 'H*', pack 'd>', $_[0] },
    s => sub { my $text = $_[0]; utf8::encode($text) if utf8::is_utf8($text); 'x' . unpack 'H*', $text },
);

sub line { print join(' ', @_), "\n" }

sub sums {
    my ($profile, $mark) = @_;
    for my $file ($profile->all_fileinfos) {
        line("$mark file", $file->fid, $show{s}->($file->filename), $file->eval_fid || 0);
        my $lines = $profile->{fid_line_time}[$file->fid] || [];
        for my $number (0 .. $#$lines) {
            my $sum = $lines->[$number] or next;
            line("$mark line", $file->fid, $number, $show{n}->($sum->[0]), $sum->[1]);
        }
    }
    for my $sub (values %{ $profile->subname_subinfo_map }) {
        my $name = $show{s}->($sub->subname);
        my @range = map { defined $_ ? $_ : '-' } $sub->first_line, $sub->last_line;
        line("$mark sub", $name, $sub->fid, @range, $sub->calls, map({ $show{n}->($_) } $sub->incl_time,
            $sub->excl_time), $sub->kind);
        my $places = $sub->caller_fid_line_places;
        for my $fid (keys %$places) {
            for my $number (keys %{ $places->{$fid} }) {
                my ($count, $incl, $excl) = @{ $places->{$fid}{$number} };
                line("$mark call", $name, $fid, $number, $count, map { $show{n}->($_) } $incl, $excl);
            }
        }
    }
}

open STDERR, '>', '/dev/null' unless $ENV{DUMP_STDERR};
for my $file (@ARGV) {
    line('FILE', $file);
    for_chunks {
        my ($tag, @fields) = @_;
        my @kinds = split //, $layout{$tag};
        line('record', $tag, map { $show{ $kinds[$_] }->($fields[$_]) } 0 .. $#kinds);
    } filename => $file;
    for my $merges (0, 1) {
        my $profile = Devel::NYTProf::Data->new({ filename => $file, quiet => 1, skip_collapse_evals => !$merges });
        line($merges ? 'merged' : 'raw', 'complete', $profile->attributes->{complete} ? 1 : 0);
        sums($profile, $merges ? 'merged' : 'raw');
    }
}
